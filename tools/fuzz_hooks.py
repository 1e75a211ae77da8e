"""Extends schemathesis for `npm run fuzz`."""

import schemathesis

# Bodies of tus are bytes.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
