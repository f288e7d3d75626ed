// Colly's side of bench/peers.py: the pages of one host, as JSON lines.
//
//	colly_crawler URL FOLDER
//
// Colly parses with goquery, obeys robots.txt, and asks for each URL once. It writes url, title and
// text of each page to FOLDER/pages.jsonl. It has no index.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
	"golang.org/x/net/html"
)

const (
	connections  = 16
	maxBodyBytes = 32 << 20
	timeout      = time.Minute
	bufferBytes  = 1 << 20
)

var notPages = regexp.MustCompile(`(?i)\.(bmp|bz2|css|epub|exe|gif|gz|ico|jpe?g|js|mp[34]|pdf|png|svg|tgz|woff2?|xz|zip)$`)

type page struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func main() {
	seed, folder := os.Args[1], os.Args[2]
	parsed, err := url.Parse(seed)
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, "pages.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	buffer := bufio.NewWriterSize(file, bufferBytes)
	lines := json.NewEncoder(buffer)
	var lock sync.Mutex

	crawler := newCrawler(parsed.Hostname())
	crawler.OnHTML("html", func(found *colly.HTMLElement) {
		follow(found)
		read := page{URL: found.Request.URL.String(), Title: found.DOM.Find("title").First().Text()}
		found.DOM.Find("script, style, noscript").Remove()
		read.Text = textBelow(found.DOM.Find("body").Nodes)
		lock.Lock()
		defer lock.Unlock()
		if err := lines.Encode(read); err != nil {
			log.Fatal(err)
		}
	})
	crawler.Visit(seed)
	crawler.Wait()
	if err := buffer.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

func newCrawler(host string) *colly.Collector {
	crawler := colly.NewCollector(
		colly.AllowedDomains(host),
		colly.Async(true),
		colly.UserAgent("colly"),
		colly.MaxBodySize(maxBodyBytes),
		colly.DisallowedURLFilters(notPages),
	)
	crawler.IgnoreRobotsTxt = false
	crawler.WithTransport(&http.Transport{MaxIdleConnsPerHost: 2 * connections})
	crawler.SetRequestTimeout(timeout)
	crawler.DisableCookies()
	if err := crawler.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: connections}); err != nil {
		log.Fatal(err)
	}
	return crawler
}

// follow visits the links of a page. Colly knows which URLs it has visited, and ignores errors here:
// they say that a URL is known, or not to be crawled.
func follow(found *colly.HTMLElement) {
	found.ForEach("a[href], area[href]", func(_ int, link *colly.HTMLElement) {
		href, _, _ := strings.Cut(link.Attr("href"), "#")
		if href != "" && !strings.Contains(link.Attr("rel"), "nofollow") {
			link.Request.Visit(href)
		}
	})
	found.ForEach("iframe[src], frame[src]", func(_ int, frame *colly.HTMLElement) {
		frame.Request.Visit(frame.Attr("src"))
	})
}

func textBelow(nodes []*html.Node) string {
	var text strings.Builder
	var walk func(*html.Node)
	walk = func(node *html.Node) {
		if node.Type == html.TextNode {
			text.WriteString(node.Data)
			text.WriteByte(' ')
		}
		for child := node.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	for _, node := range nodes {
		walk(node)
	}
	return text.String()
}
