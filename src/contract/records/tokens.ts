/** The file of access tokens, `tokens.json`. Times are ISO 8601; the secrets themselves are stored nowhere. */
import { Type, type Static } from 'typebox';
import { enumOf, nullable, text } from '../build.ts';
import { TOKEN_SCOPES } from '../enums.ts';

export const TokenRecord = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{8}$', description: 'The public part of the token.' }),
  name: text('Display name.'),
  scopes: Type.Array(enumOf(TOKEN_SCOPES, 'An operation that the token allows.')),
  runner_id: nullable(text('The only runner id that the scope `runner` is valid for; null: any.')),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the whole token.' }),
  created_at: text('When it was created.'),
  expires_at: nullable(text('When it expires; null: never.')),
  prefix: Type.Optional(
    text(
      'Of the scope `launch`: the ids of its runners begin with it; of an allocation: that of the token that made it.',
    ),
  ),
  allocation: Type.Optional(text('The allocation of a cluster that it was made for and ends with.')),
  made_by: Type.Optional(text('The id of the token that made it, of an allocation; absent: made by an older version.')),
});
export interface TokenRecord extends Static<typeof TokenRecord> {}

export const TokenFile = Type.Object({ format: Type.Unsafe<1>({ const: 1 }), tokens: Type.Array(TokenRecord) });
export interface TokenFile extends Static<typeof TokenFile> {}
