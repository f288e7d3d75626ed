//! Spider's side of bench/peers.py: the pages of one host, as a WARC file and a tantivy index.
//!
//!     spider_crawler URL FOLDER
//!
//! The crate crawls the host, obeys robots.txt, and writes FOLDER/pages.warc. A task takes its pages,
//! extracts title and text with lol_html, and adds them to the index in FOLDER/index, whose text
//! fields are stored with positions.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lol_html::{element, text, HtmlRewriter, Settings};
use spider::page::Page;
use spider::utils::warc::WarcConfig;
use spider::website::Website;
use tantivy::schema::{Field, Schema, STORED, STRING, TEXT};
use tantivy::{doc, Index, IndexWriter};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinSet;

const CHANNEL_PAGES: usize = 1 << 14;
const WRITER_BYTES: usize = 256_000_000;
const WRITER_THREADS: usize = 2;
const REDIRECTS: usize = 10;
const BLOCKS: &str = "br, dd, div, dt, h1, h2, h3, h4, h5, h6, li, p, pre, td, th, tr";

struct Indexer {
    writer: IndexWriter,
    url: Field,
    title: Field,
    text: Field,
}

impl Indexer {
    fn create(folder: &Path) -> tantivy::Result<Self> {
        let mut schema = Schema::builder();
        let url = schema.add_text_field("url", STRING | STORED);
        let title = schema.add_text_field("title", TEXT | STORED);
        let text = schema.add_text_field("text", TEXT | STORED);
        fs::create_dir_all(folder)?;
        let index = Index::create_in_dir(folder, schema.build())?;
        let writer = index.writer_with_num_threads(WRITER_THREADS, WRITER_BYTES)?;
        Ok(Self {
            writer,
            url,
            title,
            text,
        })
    }

    fn add(&self, page: &Page) -> tantivy::Result<()> {
        let (title, text) = title_and_text(page.get_html_bytes_u8());
        let document = doc!(self.url => page.get_url(), self.title => title, self.text => text);
        self.writer.add_document(document)?;
        Ok(())
    }

    fn finish(mut self) -> tantivy::Result<()> {
        self.writer.commit()?;
        self.writer.wait_merging_threads()
    }
}

/// Title and visible text of a page; blocks are apart from each other.
fn title_and_text(html: &[u8]) -> (String, String) {
    let title = RefCell::new(String::new());
    let body = RefCell::new(String::with_capacity(html.len() / 3));
    let hidden = Cell::new(false);
    let handlers = vec![
        text!("title", |chunk| {
            title.borrow_mut().push_str(chunk.as_str());
            Ok(())
        }),
        text!("script, style, noscript", |chunk| {
            hidden.set(!chunk.last_in_text_node());
            chunk.remove();
            Ok(())
        }),
        element!(BLOCKS, |_| {
            body.borrow_mut().push(' ');
            Ok(())
        }),
        text!("body", |chunk| {
            if !chunk.removed() {
                body.borrow_mut().push_str(chunk.as_str());
            }
            Ok(())
        }),
    ];
    let settings = Settings {
        element_content_handlers: handlers,
        ..Settings::new()
    };
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    // A page that lol_html gives up is indexed as far as it was read.
    match rewriter.write(html) {
        Ok(()) => drop(rewriter.end()),
        Err(_) => drop(rewriter),
    }
    (title.into_inner(), body.into_inner())
}

/// Indexes all pages that the crawl sends.
async fn index_pages(mut pages: Receiver<Page>, indexer: Arc<Indexer>) {
    let mut tasks = JoinSet::new();
    loop {
        match pages.recv().await {
            Ok(page) if page.status_code.as_u16() == 200 => {
                let indexer = indexer.clone();
                tasks.spawn_blocking(move || indexer.add(&page).expect("a page is indexed"));
            }
            Ok(_) => {}
            Err(RecvError::Lagged(lost)) => panic!("{lost} pages came too fast"),
            Err(RecvError::Closed) => break,
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("a page is indexed");
    }
}

#[tokio::main]
async fn main() -> tantivy::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (url, folder) = (&arguments[1], Path::new(&arguments[2]));
    let indexer = Arc::new(Indexer::create(&folder.join("index"))?);
    let mut site = Website::new(url);
    site.with_respect_robots_txt(true)
        .with_ignore_sitemap(true)
        .with_subdomains(false)
        .with_tld(false)
        .with_delay(0)
        .with_depth(0)
        .with_redirect_limit(REDIRECTS)
        .with_user_agent(Some("spider"));
    site.configuration.with_warc(WarcConfig {
        path: folder.join("pages.warc").to_string_lossy().into_owned(),
        write_warcinfo: true,
        ..Default::default()
    });
    let reader = tokio::spawn(index_pages(site.subscribe(CHANNEL_PAGES), indexer.clone()));
    site.crawl().await;
    site.unsubscribe();
    drop(site);
    reader.await.expect("the reader ends");
    let Some(indexer) = Arc::into_inner(indexer) else {
        panic!("a task still indexes")
    };
    indexer.finish()
}
