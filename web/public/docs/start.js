// Shows the API description of the coordinator. A separate file, because the policy forbids inline scripts.
window.SwaggerUIBundle({
  url: new URL('../openapi.json', document.baseURI).href,
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // The dashboard's token in this tab, if any; a token entered under Authorize takes precedence.
  requestInterceptor(request) {
    const token = window.sessionStorage.getItem('simbatch-token');
    if (token !== null && request.headers.Authorization === undefined)
      request.headers.Authorization = `Bearer ${token}`;
    return request;
  },
});
