import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { parseCondition } from '../../src/domain/study/condition.ts';
import { parseMemory } from '../../src/domain/quantity.ts';
import { registry } from '../../src/contract/build.ts';
import { schemaFaults } from '../../src/contract/validation/validate.ts';
import { apiDescription } from '../../src/http/openapi.ts';
import { routes } from '../../src/http/routes/index.ts';
import { listen } from '../support/http.ts';

describe('http/openapi', () => {
  it('is served with an operation for every route', async () => {
    const server = await listen();
    const description: any = await (await fetch(`${server.url}/openapi.json`)).json();
    await server.close(0);
    const described = Object.entries<object>(description.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).to.deep.equal(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('has a valid example of every request body', () => {
    const { paths } = apiDescription() as any;
    for (const { method, path, body } of routes) {
      if (body === undefined) continue;
      const { content } = paths[path][method.toLowerCase()].requestBody;
      const { example } = content['application/json'];
      expect(schemaFaults(body.schema, example), `${method} ${path}`).to.deep.equal([]);
      expect(example, `${method} ${path}`).to.be.an('object');
    }
  });

  it('has schemas that the meta-schema accepts: at run time they are taken as they are', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const [name, schema] of registry) {
      const isValid = ajv.validateSchema(schema);
      expect(isValid, `${name}: ${ajv.errorsText()}`).to.equal(true);
    }
    expect(ajv.validateSchema({ type: 'objekt' })).to.equal(false);
  });

  it('declares the samples with the schema of each media type', () => {
    const { paths } = apiDescription() as any;
    const { content } = paths['/batches/{batch_id}/samples'].get.responses[200];
    expect(content['application/json'].schema).to.deep.equal({ $ref: '#/components/schemas/SampleList' });
    expect(content['text/csv'].schema).to.deep.equal({ type: 'string' });
  });

  it('declares the grammar of quantities and conditions, as the domain reads them', () => {
    const { schemas } = apiDescription()['components'] as any;
    const accepts = ({ pattern, maxLength }: any, text: string): boolean =>
      new RegExp(pattern).test(text) && text.length <= maxLength;
    const { cpu_request, memory_limit } = schemas.ContainerConfig.properties;
    for (const text of ['500m', '2', '1.5', '.5Gi', '1e3', '+1', 'lots', '', '5 m', '-1', '1KB', '1'.repeat(65)]) {
      expect(accepts(cpu_request, text), text).to.equal(typeof parseMemory(text) === 'number');
      expect(accepts(memory_limit, text), text).to.equal(typeof parseMemory(text) === 'number');
    }
    const { condition } = schemas.TerminationCondition.properties;
    for (const text of ['< 0', '>=1.5e3', ' != -.5 ', '=1', '< x', '1 < 2', '', '<<1', `<${' '.repeat(100)}1`]) {
      expect(accepts(condition, text), text).to.equal(typeof parseCondition(text) === 'object');
    }
  });

  it('describes every member of every request object', () => {
    const undescribed: string[] = [];
    const visit = (at: string, schema: any): void => {
      for (const [name, member] of Object.entries<any>(schema.properties ?? {})) {
        const said = member.description ?? member.const ?? member.$ref ?? member.anyOf;
        if (said === undefined && schema.discriminator === undefined) undescribed.push(`${at}.${name}`);
      }
    };
    const { schemas } = apiDescription()['components'] as { schemas: Record<string, unknown> };
    for (const [name, schema] of Object.entries(schemas)) visit(name, schema);
    expect(undescribed).to.deep.equal([]);
  });
});
