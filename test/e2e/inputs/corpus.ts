/**
 * Twelve small simulations of one flight, each with one input that does not reach the result, and their honest twins, which differ in the
 * one place. The inputs are `mass`, `cd_bias`, `wind` and `thrust`; the output is `range_m`.
 */

export interface Simulation {
  name: string;
  /** The ending of its file. */
  ending: '.py' | '.mjs' | '.sh' | '.c';
  /** The program with a text in the place that differs. */
  program: (differing: string) => string;
  faulty: string;
  honest: string;
  /** The input that does not reach the result of the faulty one. */
  fault: string;
  /** How it shows: by the look-ups through the client library, or by the effect on the outputs. */
  shows: 'look-ups' | 'effect';
  /** The name that it asks for instead. */
  asked?: string;
}

const PYTHON = (body: string): string => `import simbatch
run = simbatch.run()
p = run.parameters
${body}
run.result(range_m=range_m(mass, cd_bias, wind, thrust))
`;
const RANGE_PYTHON = `
def range_m(mass, cd_bias, wind, thrust):
    return 1000.0 * thrust / (mass * (1.0 + cd_bias)) + 3.0 * wind
`;
const READ_BY_HAND = `import json, os
with open(os.environ["SVC_RUN_CONFIG"]) as file:
    p = json.load(file)["parameters"]
`;
const WRITE_BY_HAND = `
with open(os.environ["SVC_OUTPUT_DIR"] + "/metadata.json", "w") as file:
    json.dump({"range_m": range_m(mass, cd_bias, wind, thrust)}, file)
`;
const python = (body: string): string => RANGE_PYTHON + PYTHON(body);
const byHand = (body: string): string => RANGE_PYTHON + READ_BY_HAND + body + WRITE_BY_HAND;

const node = (client: string, body: string): string => `import { run as open } from ${JSON.stringify(client)};
const run = open();
const p = run.parameters;
${body}
run.result({ range_m: (1000 * thrust) / (mass * (1 + cd_bias)) + 3 * wind });
`;

const c = (cdBias: string, wind: string): string => `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double number(const char *text, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\\"%s\\":", name);
  const char *at = strstr(text, key);
  return at == NULL ? 0.0 : atof(at + strlen(key));
}
int main(void) {
  static char text[65536];
  FILE *file = fopen(getenv("SVC_RUN_CONFIG"), "r");
  if (file == NULL) return 1;
  fread(text, 1, sizeof text - 1, file);
  fclose(file);
  double wind = number(text, "wind");
  ${wind}
  double range = 1000.0 * number(text, "thrust") / (number(text, "mass") * (1.0 + number(text, "${cdBias}"))) + 3.0 * wind;
  char path[4096];
  snprintf(path, sizeof path, "%s/metadata.json", getenv("SVC_OUTPUT_DIR"));
  file = fopen(path, "w");
  fprintf(file, "{\\"range_m\\": %.17g}\\n", range);
  return fclose(file);
}
`;

/** @param client the address of the Node client, as an import has it. */
export const corpus = (client: string): readonly Simulation[] => [
  {
    name: 'python-misspelt-with-default',
    ending: '.py',
    program: (it) => python(`mass, wind, thrust = p["mass"], p["wind"], p["thrust"]\ncd_bias = p.get("${it}", 0.0)`),
    faulty: 'cd_scale',
    honest: 'cd_bias',
    fault: 'cd_bias',
    shows: 'look-ups',
    asked: 'cd_scale',
  },
  {
    name: 'python-constant',
    ending: '.py',
    program: (it) =>
      python(`mass, cd_bias, thrust = (p[name] for name in ("mass", "cd_bias", "thrust"))\nwind = ${it}`),
    faulty: '2.5',
    honest: 'p["wind"]',
    fault: 'wind',
    shows: 'look-ups',
  },
  {
    name: 'python-optional-model',
    ending: '.py',
    program: (it) =>
      python(`mass, cd_bias, thrust = p["mass"], p["cd_bias"], p["thrust"]\nwind = p["wind"] if "${it}" in p else 0.0`),
    faulty: 'winds',
    honest: 'wind',
    fault: 'wind',
    shows: 'look-ups',
    asked: 'winds',
  },
  {
    name: 'python-copied-line',
    ending: '.py',
    program: (it) =>
      `${RANGE_PYTHON}import simbatch
run = simbatch.run(defaults={"mass": 10.0, "cd_bias": 0.0, "wind": 0.0, "thrust": 50.0, "thrust_2": 50.0})
p = run.parameters
mass, cd_bias, wind, thrust = p["mass"], p["cd_bias"], p["wind"], p["${it}"]
run.result(range_m=range_m(mass, cd_bias, wind, thrust))
`,
    faulty: 'thrust_2',
    honest: 'thrust',
    fault: 'thrust',
    shows: 'look-ups',
    asked: 'thrust_2',
  },
  {
    name: 'python-overwritten',
    ending: '.py',
    program: (it) =>
      python(
        `values = dict(p)\n${it}\nmass, cd_bias, wind, thrust = (values[name] for name in ("mass", "cd_bias", "wind", "thrust"))`,
      ),
    faulty: 'values["mass"] = 12.0',
    honest: 'values["mass"] += 0.0',
    fault: 'mass',
    shows: 'effect',
  },
  {
    name: 'python-child-with-the-file',
    ending: '.py',
    program: (it) => `import os, subprocess, sys
import simbatch
if len(sys.argv) > 1:
${(RANGE_PYTHON + READ_BY_HAND).replaceAll(/^(?=.)/gm, '    ')}
    mass, cd_bias, wind, thrust = p["mass"], p["cd_bias"], ${it}, p["thrust"]
    print(range_m(mass, cd_bias, wind, thrust))
else:
    run = simbatch.run()
    print("mass", run.parameters["mass"])
    done = subprocess.run([sys.executable, __file__, "solve"], stdout=subprocess.PIPE, check=True)
    run.result(range_m=float(done.stdout))
`,
    faulty: 'min(p["wind"], -100.0)',
    honest: 'p["wind"]',
    fault: 'wind',
    shows: 'effect',
  },
  {
    name: 'python-file-misspelt',
    ending: '.py',
    program: (it) => byHand(`mass, wind, thrust = p["mass"], p["wind"], p["thrust"]\ncd_bias = p.get("${it}", 0.0)\n`),
    faulty: 'cd_scale',
    honest: 'cd_bias',
    fault: 'cd_bias',
    shows: 'effect',
  },
  {
    name: 'node-misspelt',
    ending: '.mjs',
    program: (it) => node(client, `const { mass, wind, thrust } = p;\nconst cd_bias = '${it}' in p ? p['${it}'] : 0;`),
    faulty: 'cd_scale',
    honest: 'cd_bias',
    fault: 'cd_bias',
    shows: 'look-ups',
    asked: 'cd_scale',
  },
  {
    name: 'node-unwired',
    ending: '.mjs',
    program: (it) => node(client, `const { mass, cd_bias, wind } = p;\nconst thrust = ${it};`),
    faulty: '50',
    honest: 'p.thrust',
    fault: 'thrust',
    shows: 'look-ups',
  },
  {
    name: 'shell-misspelt',
    ending: '.sh',
    program: (it) => `#!/bin/sh
number() { sed -n 's/.*"'"$1"'":\\([-+0-9.eE]*\\).*/\\1/p' "$SVC_RUN_CONFIG"; }
awk -v mass="$(number mass)" -v cd_bias="$(number cd_bias)" -v wind="$(number ${it})" -v thrust="$(number thrust)" \\
  'BEGIN { printf "{\\"range_m\\": %.17g}\\n", 1000 * thrust / (mass * (1 + cd_bias)) + 3 * wind }' > "$SVC_OUTPUT_DIR/metadata.json"
`,
    faulty: 'wind_speed',
    honest: 'wind',
    fault: 'wind',
    shows: 'effect',
  },
  {
    name: 'c-misspelt',
    ending: '.c',
    program: (it) => c(it, ''),
    faulty: 'cd_scale',
    honest: 'cd_bias',
    fault: 'cd_bias',
    shows: 'effect',
  },
  {
    name: 'c-test-value-left',
    ending: '.c',
    program: (it) => c('cd_bias', it),
    faulty: 'wind = 0.0;',
    honest: 'wind += 0.0;',
    fault: 'wind',
    shows: 'effect',
  },
];
