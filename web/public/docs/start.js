// Shows the coordinator's own description of its API. A file of its own, because no inline script may run here.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  // The token that the dashboard was given in this tab, if any; one entered under Authorize comes first.
  requestInterceptor(request) {
    const token = window.sessionStorage.getItem('simbatch-token');
    if (token !== null && request.headers.Authorization === undefined)
      request.headers.Authorization = `Bearer ${token}`;
    return request;
  },
});
