// What `clew plugins pack` prints.
import type { PackageFinding } from "../../plugins/pack/finding.ts";
import { packPlugin } from "../../plugins/pack/pack.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { shellWord } from "../../text/shell-word.ts";

export interface PackOptions {
  out?: string;
  check?: boolean;
  json?: boolean;
}

/** Exit code 1: it would not work in one of the hosts, and nothing was written. */
export async function pack(
  path: string,
  { out, check, json }: PackOptions,
  { output }: Shell,
): Promise<number> {
  const report = await packPlugin({ path, out, check }, process.cwd());
  const { file, files, bytes, findings } = report;
  const hasFailed = findings.some(({ level }) => level === "failure");
  if (json) output.json(report);
  else
    for (const line of [
      ...findings.map(describe),
      file === null
        ? hasFailed
          ? `${path} would not work everywhere${check ? asItIs(path) : "; nothing was written."}`
          : `${path} can be installed in Clew and in OpenClaw.`
        : `Packed ${file}: ${files.length} files, ${Math.ceil(bytes / 1024)} KiB. To install it: clew plugins install ${shellWord(file)}, or openclaw plugins install ${shellWord(file)} --force --accept-capabilities`,
    ])
      output.line(printable(line));
  return hasFailed ? 1 : 0;
}

/** A folder is checked as npm would pack it, which is not what `pack` makes of it. */
const asItIs = (path: string) =>
  /\.(?:tgz|tar\.gz|tar)$/i.test(path)
    ? "."
    : ` as npm packs it; "clew plugins pack ${shellWord(path)}" makes one file of its code, and checks that.`;

const NAMES = { clew: "Clew", openclaw: "OpenClaw" };

const describe = ({ level, hosts, text }: PackageFinding) =>
  `${level.padEnd(7)}  ${hosts.map((host) => NAMES[host]).join(", ")}: ${text}`;
