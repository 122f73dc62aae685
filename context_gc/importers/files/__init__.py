"""Files: the bytes of a file, a folder or an archive -> documents with numbered records."""
