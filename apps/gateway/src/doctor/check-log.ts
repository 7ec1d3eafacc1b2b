// Says when the log of a home cannot be written, which ends nothing else.
import { accessSync, constants, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { logFile } from "../log/log.ts";
import type { Finding } from "./finding.ts";

export function checkLog(home: string): Finding[] {
  const file = logFile(home);
  const why = [dirname(file), file].map(whyNot).find((reason) => reason !== null);
  return why === undefined
    ? []
    : [
        {
          ...{ level: "warning", code: "log-not-writable", subject: "log" },
          text: `nothing is written down: ${why}`,
        },
      ];
}

/** Null: it can be written, or is not there yet. */
function whyNot(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isSymbolicLink())
    return `${path} is a link, and the log follows none; put a folder or a file in its place`;
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch {
    return `${path} may not be written by this account`;
  }
}
