"""The smallest page that commands take for the viewer."""
VIEWER = b"<html><body><p>viewer</p><script>getElementById('gpustrata-snapshot')</script></body></html>\n"
