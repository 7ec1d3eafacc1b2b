// Reads the workspace's AGENTS.md, or else its CLAUDE.md, for the system prompt.
import { existsSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { LogPort } from "@clew/engine-core";

export interface WorkspaceInstructions {
  /** "AGENTS.md" or "CLAUDE.md"; names the part in reports. */
  name: string;
  /** The whole file, unchanged. */
  text: string;
}

const NAMES = ["AGENTS.md", "CLAUDE.md"];
/** Larger files would crowd out the conversation in every single request. */
const MAX_BYTES = 128 * 1024;

/**
 * Read again before each turn; equal bytes, equal text. The first of the two that is
 * there decides: undefined when it is blank, too large, no UTF-8 or leads out of the
 * workspace, and the log says so.
 */
export async function readWorkspaceInstructions(
  workspace: string,
  log: LogPort,
): Promise<WorkspaceInstructions | undefined> {
  for (const name of NAMES) {
    // Most workspaces have none, and asking so costs microseconds.
    if (!existsSync(join(workspace, name))) continue;
    const found = await readInside(workspace, name);
    if (found === "missing") continue;
    if ("problem" in found) {
      log.warn(`${join(workspace, name)} is not pinned: ${found.problem}`);
      return undefined;
    }
    return found.text.trim() === "" ? undefined : { name, text: found.text };
  }
  return undefined;
}

async function readInside(
  workspace: string,
  name: string,
): Promise<{ text: string } | { problem: string } | "missing"> {
  try {
    const [root, file] = await Promise.all([realpath(workspace), realpath(join(workspace, name))]);
    if (!file.startsWith(root + sep))
      return { problem: `it leads out of the workspace, to ${basename(file)}` };
    const { size } = await stat(file);
    if (size > MAX_BYTES)
      return { problem: `it has ${size} bytes, more than ${MAX_BYTES}; shorten it` };
    // A byte order mark belongs to the bytes.
    return {
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(file)),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "missing";
    return {
      problem:
        code === "ERR_ENCODING_INVALID_ENCODED_DATA"
          ? "it is not UTF-8 text"
          : (error as Error).message,
    };
  }
}
