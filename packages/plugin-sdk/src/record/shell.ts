// Whether an exit code of 0 says that all of a shell command went well.

/** What may stand in a command whose exit code is that of all its parts, joined by "&&". */
const ERREXIT = /^set -[a-z]*e[a-z]*(?<pipefail>o pipefail| -o pipefail)?\s*(?:;|\n)/;
const QUOTED = /'[^']*'|"[^"$`\\]*"/g;
/** Programs that run a command which they are given as a text. */
const RUNNER =
  /(?:^|[\s/])(?:ba|z|da|k|fi)?sh(?:\s|$)|(?:^|\s)(?:eval|xargs|ssh|su|trap|parallel|watch)(?:\s|$)/;
/** One command beside another, inside it, turned round, or not waited for. */
const UNCLEAR = /[\\`#(){}!]|\|\||<<|(?<![&>])&(?![&>])/;
const PIPE = /\|/;
const LIST = /[;\n]/;

/** Only where it is sure: of everything else the code may be that of a part. Linear. */
export function tellsAll(command: string): boolean {
  const bare = command.trim().replace(QUOTED, "''");
  const errexit = ERREXIT.exec(bare);
  const rest = errexit === null ? bare : bare.slice(errexit[0].length);
  if (UNCLEAR.test(rest) || RUNNER.test(rest) || /["']/.test(rest.replaceAll("''", "")))
    return false;
  if (PIPE.test(rest) && errexit?.groups?.pipefail === undefined) return false;
  // "set -e" lets a command fail that is not the last of "a && b".
  return !LIST.test(rest) || (errexit !== null && !rest.includes("&&"));
}
