#!/bin/sh
# Makes the certificates of a search server and its nodes: docs/deployment.md.
#
#   deploy/certificates.sh FOLDER NAME...
#
# Writes ca.pem, node.pem and node.key into FOLDER, unless they are there. Server and nodes share
# node.pem. Each NAME is a host name or IP address of a node, as in serve.nodes. The authority's key
# signs nothing else and is not kept: for another node, or before DAYS have passed, delete the files
# and make new ones.
set -eu
DAYS=3650
folder=$1
shift

test ! -e "$folder/node.pem" || exit 0
umask 077
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

names=
for name in "$@"; do
  case $name in
    *:* | *[0-9].*[0-9].*[0-9].*[0-9]) names="$names,IP:$name" ;;
    *) names="$names,DNS:$name" ;;
  esac
done
echo "subjectAltName=${names#,}" > "$scratch/names"

openssl req -x509 -newkey ed25519 -noenc -days $DAYS -subj "/CN=Gossamer nodes" \
  -keyout "$scratch/ca.key" -out "$scratch/ca.pem"
openssl req -newkey ed25519 -noenc -subj "/CN=Gossamer node" \
  -keyout "$scratch/node.key" -out "$scratch/node.csr"
openssl x509 -req -in "$scratch/node.csr" -CA "$scratch/ca.pem" -CAkey "$scratch/ca.key" \
  -days $DAYS -extfile "$scratch/names" -out "$scratch/node.pem"

mkdir -p "$folder"
cp "$scratch/ca.pem" "$scratch/node.key" "$folder"
cp "$scratch/node.pem" "$folder"  # the last one: the files are complete now
