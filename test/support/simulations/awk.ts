/**
 * A simulation of a formula as a script of awk, for studies of hundreds of runs: a Node for each takes twenty times as long.
 * @param format of the result, as of `printf`: `%.17g` has each digit of a number.
 * @param value of the format: an expression of awk, in which `number("x")` is the parameter `x` of a run.
 * @param notes a file to which each execution appends the number of its run.
 */
export const awkSimulation = (format: string, value: string, notes = '/dev/null'): string => `#!/bin/sh
exec awk '
  function number(name) {
    match($0, "\\"" name "\\":[-+.0-9eE]+")
    return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
  }
  {
    print number("run_id") >> "${notes}"
    printf "${format.replaceAll('"', '\\"')}\\n", ${value}
  }
' "$SVC_RUN_CONFIG" > "$SVC_OUTPUT_DIR/metadata.json"
`;
