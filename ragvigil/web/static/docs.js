"use strict";

// A script of its own, because the page may have none inside.
window.addEventListener("load", () => {
  SwaggerUIBundle({
    dom_id: "#docs",
    url: new URL("api/v1/openapi.json", document.baseURI).href,
    deepLinking: true,
    docExpansion: "list",
    validatorUrl: null, // the public validator would be asked from every reader's browser
  });
});
