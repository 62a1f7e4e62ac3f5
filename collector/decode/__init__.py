"""OTLP bytes to spans and log records: protobuf and JSON, salvaged where a part is malformed."""
