# Targets beside cargo's own.

# cdp-schema/protocol.json from the installed Chromium; see the diff before committing it.
.PHONY: schema
schema:
	cdp-schema/fetch
