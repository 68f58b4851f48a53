/** The API description (OpenAPI 3.1), generated from the table of routes and the schemas. */
import { IsOptional, type TSchema } from 'typebox';
import { ERROR_TITLES, type ErrorCode } from '../domain/errors.ts';
import { packageVersion } from '../base/package.ts';
import { STATUS_OF } from './response/problem.ts';
import { PATH_PARAMETERS, TAGS, errorsOf, hasFilePath, pathParameter, type Route } from './route.ts';
import { EXAMPLES } from './examples.ts';
import { routes } from './routes/index.ts';
import { registry } from '../contract/build.ts';
import { LIMITS } from '../contract/limits.ts';
import { RUNNER_ID_PATTERN } from '../contract/patterns.ts';

type Json = Record<string, unknown>;

/** The request that receivers of `--notify-url` get. */
const STUDY_WEBHOOK: Json = {
  operationId: 'studyEvent',
  summary: 'A study was settled, ended or blocked',
  description:
    'Sent to the addresses of `--notify-url` with the headers of the Standard Webhooks specification; repeated until it is accepted, for a day.',
  tags: ['service'],
  parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
    name,
    in: 'header',
    required: name !== 'webhook-signature',
    description: 'As in the Standard Webhooks specification.',
    schema: { type: 'string' },
  })),
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/StudyNotification' } } },
  },
  responses: {
    '2XX': { description: 'Accepted: it is not sent again.' },
    default: { description: 'Not accepted: it is sent again.' },
  },
};

let made: Json | undefined;

/** Returns the description as a plain object; `basePath` is the prefix of the coordinator's addresses. */
export function apiDescription(basePath = ''): Json {
  made ??= described();
  return basePath === '' ? made : { ...made, servers: [serverAt(basePath)] };
}

const serverAt = (url: string): Json => ({ url, description: 'This coordinator.' });

function described(): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'simbatch',
      version: packageVersion,
      summary: 'Coordinator for Monte Carlo simulation studies.',
      description:
        'A client submits a study; runners claim its jobs, execute them and report; clients read the results.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [serverAt('/')],
    // The first alternative needs no credential: it applies while no tokens are configured.
    security: [{}, { bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    webhooks: { study: { post: STUDY_WEBHOOK } },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of `simbatch token create`. `x-scope` says which scope an operation needs.',
        },
      },
      // Schemas are sorted by name: the order of the registry is that in which modules are loaded.
      schemas: Object.fromEntries(
        [...registry.keys()].toSorted().map((name) => [name, published(registry.get(name)!)]),
      ),
    },
  };
}

function paths(): Json {
  const all: Record<string, Json> = {};
  for (const route of routes) {
    const path = (all[route.path] ??= {});
    path[route.method.toLowerCase()] = operation(route);
  }
  return all;
}

function operation(route: Route): Json {
  const { operationId, summary, description, tag, scope, body, bodyBytes } = route;
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    'x-scope': scope,
    ...(scope === 'open' ? { security: [] } : {}),
    parameters: parameters(route),
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.optional !== true, content: bodyOf(body.schema.$id) } }),
    ...(bodyBytes === undefined
      ? {}
      : { requestBody: { required: false, content: { 'application/octet-stream': { schema: BYTES } } } }),
    responses: {
      200: success(route),
      ...furtherSuccesses(route),
      ...partial(route),
      ...pending(route),
      ...failures(route),
    },
  };
}

function bodyOf(name: string): Json {
  const content = json({ $ref: component(name) });
  const example = EXAMPLES[name];
  if (example === undefined) return content;
  return Object.fromEntries(Object.entries(content).map(([media, it]) => [media, { ...(it as Json), example }]));
}

const hasTag = (route: Route): boolean =>
  route.answer === 'single' || route.answer === 'computed' || route.isTagged === true;

function parameters(route: Route): Json[] {
  const inPath = pathParameter(route);
  return [
    ...(inPath === undefined ? [] : [pathParameterOf(inPath)]),
    ...Object.entries(route.pathParameters ?? {}).map(([name, parameter]) => inPathParameter(name, parameter)),
    ...(hasFilePath(route) ? [FILE_PATH] : []),
    ...Object.entries(route.query ?? {}).map(([name, parameter]) => queryParameter(name, parameter)),
    ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: { type: 'string' },
    })),
    ...(hasTag(route)
      ? [{ name: 'If-None-Match', in: 'header', description: 'Entity tags already known.', schema: { type: 'string' } }]
      : []),
  ];
}

const BYTES = { type: 'string', contentEncoding: 'binary' };

const FILE_PATH: Json = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'The path of the file; its `/` may be percent-encoded.',
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.pathLength },
};

function pathParameterOf(name: keyof typeof PATH_PARAMETERS): Json {
  const schema =
    name === 'runner_id' ? { type: 'string', pattern: RUNNER_ID_PATTERN } : { type: 'string', format: 'uuid' };
  return { name, in: 'path', required: true, description: `The ${PATH_PARAMETERS[name].noun}.`, schema };
}

function inPathParameter(name: string, parameter: TSchema): Json {
  const { description, ...schema } = parameter as Json;
  return { name, in: 'path', required: true, description, schema };
}

/** The answers of a route with a status of their own. */
function furtherSuccesses({ statuses = {} }: Route): Json {
  const entries = Object.entries(statuses).map(([status, { description, schema }]) => [
    status,
    { description, content: json({ $ref: component(schema.$id) }) },
  ]);
  return Object.fromEntries(entries) as Json;
}

function queryParameter(name: string, parameter: TSchema): Json {
  const { description, ...schema } = parameter as Json;
  const style = schema['type'] === 'array' ? { style: 'form', explode: false } : {};
  const required = IsOptional(parameter) ? {} : { required: true };
  return { name, in: 'query', ...required, description, ...style, schema };
}

function success(route: Route): Json {
  const text = { type: 'string' };
  const headers: Json = { 'X-Request-Id': { description: 'Names this request in the log.', schema: text } };
  if (hasTag(route)) headers['ETag'] = { description: 'Strong entity tag of the body.', schema: text };
  if (route.answer === 'list' || route.query?.['cursor'] !== undefined) {
    headers['Link'] = { description: 'With `limit`: the address of the next page, if there is one.', schema: text };
    headers['X-Total-Count'] = {
      description: 'Number of all items that match, where known.',
      schema: { type: 'integer' },
    };
  }
  const schema = route.response === undefined ? { type: 'object' } : { $ref: component(route.response.$id) };
  if (route.media !== undefined) {
    const content = route.media.map((type) => {
      const bare = type.split(';')[0]!;
      return [bare, { schema: bare === 'application/json' ? schema : text }];
    });
    return { description: route.summary, headers, content: Object.fromEntries(content) };
  }
  return {
    description: route.response?.['description' as never] ?? 'The description.',
    headers,
    content: json(schema),
  };
}

/** The response of a route that sends ranges of bytes. */
function partial(route: Route): Json {
  if (route.answer !== 'file') return {};
  const headers = {
    'Content-Range': { description: 'The bytes that follow, and the size.', schema: { type: 'string' } },
  };
  return {
    302: {
      description: 'The file is in an object store.',
      headers: { Location: { description: 'Its address there, valid for 5 minutes.', schema: { type: 'string' } } },
    },
    206: { description: 'The requested bytes.', headers, content: { 'application/octet-stream': { schema: BYTES } } },
  };
}

/** The response of a route whose answer takes longer than the wait. */
function pending(route: Route): Json {
  if (route.answer !== 'computed') return {};
  const headers = { 'Retry-After': { description: 'Seconds after which to repeat it.', schema: { type: 'integer' } } };
  return {
    202: {
      description: 'The answer is still being computed.',
      headers,
      content: json({ $ref: component('PendingAnswer') }),
    },
  };
}

/** One response per status; its description lists the error codes. */
function failures(route: Route): Json {
  const codes: ErrorCode[] = [...errorsOf(route), 'foreign-origin', 'headers-too-large', 'internal', 'unavailable'];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(STATUS_OF[code], [...(byStatus.get(STATUS_OF[code]) ?? []), code]);
  const responses = [...byStatus].map(([status, ofStatus]) => [
    status,
    {
      description: ofStatus.map((code) => `\`${code}\`: ${ERROR_TITLES[code]}.`).join('\n'),
      content: { 'application/problem+json': { schema: { $ref: component('Problem') } } },
    },
  ]);
  const notModified = hasTag(route) ? { 304: { description: 'Not changed since the tag given.' } } : {};
  return { ...notModified, ...Object.fromEntries(responses) } as Json;
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const component = (name: string): string => `#/components/schemas/${name}`;

/** Returns a schema in the form of the description: names become references, tagged unions get their mapping. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key]) => key !== '$id');
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (key === '$ref') return [key, component(String(value))];
      if (key === 'discriminator') return [key, { ...(value as object), mapping: mapping(schema as Json) }];
      return [key, published(value)];
    }),
  );
}

/** Returns tag value -> schema of a tagged union. */
function mapping(schema: Json): Json {
  const { propertyName } = schema['discriminator'] as { propertyName: string };
  return Object.fromEntries(
    (schema['oneOf'] as { $ref: string }[]).map(({ $ref }) => {
      const variant = registry.get($ref) as unknown as { properties: Record<string, { const: string }> };
      return [variant.properties[propertyName]!.const, component($ref)];
    }),
  );
}
