"""How is a body read, whatever its format? Its type, encoding, language, dates and links."""
