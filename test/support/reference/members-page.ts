/** The page of the members of a submission, made from their table. */
import { MEMBERS } from '../../../src/domain/identity/members.ts';

const HEAD = `# The members of a submission

For people who change a study: after it you can say what becomes of the runs that it has.

Made from \`src/domain/identity/members.ts\` by \`npm run reference\`. Each member of a submission is of one part:

| part | another value | the runs that have ended |
|---|---|---|
| design | is another study | stay with the study that they are of |
| judgement | judges, names and finds the same runs otherwise | stay, and none is executed |
| count | more runs continue the design; a Latin hypercube gets its next replicate | stay |
| execution | executes later runs otherwise | stay |

\`key\` says whether a single run depends on the member: \`direct\`ly, by the \`parameters\` and the random seed that are sampled for it, or not at all (\`none\`).
\`POST /jobs?continue=true\`, \`simbatch submit --continue\` and \`study.run()\` in Python find the study of the same design and [continue it](api.md#post-jobs); requirements, outputs and labels of a study at hand are [amended](api.md#post-batchesbatch_idjudgement). Name and priority stay as submitted.

An absent member is the same as null, and as its default. Any name of a map and any place of a list is written \`*\`.

| member | part | key | why |
|---|---|---|---|
`;

/** Returns the text of docs/members.md. */
export const membersPage = (): string =>
  HEAD + MEMBERS.map((it) => `| \`${it.pointer}\` | ${it.part} | ${it.key} | ${it.why} |\n`).join('');
