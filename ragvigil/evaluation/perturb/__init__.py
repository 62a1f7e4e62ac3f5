"""Cases with a changed context, made by code: each says what the answer must then do."""
