"""A crawl's files in object storage: s3://, gs:// and az://."""
