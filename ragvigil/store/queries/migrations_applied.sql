SELECT number, checksum FROM migrations FINAL ORDER BY number
