// Decides by which name a model calls a tool of a server.
import { createHash } from "node:crypto";

/** As most providers take. */
export const MOST_NAME_CHARS = 64;

export interface ToolNames {
  /** The same for the same tool, and never another tool's, as long as the process lives. */
  nameOf(server: string, tool: string): string;
}

export function createToolNames(): ToolNames {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return {
    nameOf(server, tool) {
      const key = `${server}\0${tool}`;
      const known = names.get(key);
      if (known !== undefined) return known;
      const plain = planToolName(server, tool);
      const name = taken.has(plain) ? withMark(plain, key) : plain;
      taken.add(name);
      names.set(key, name);
      return name;
    },
  };
}

/** Pure. `mcp__server__tool`, of at most 64 of the characters that every provider takes. */
export function planToolName(server: string, tool: string): string {
  const whole = `mcp__${plain(server)}__${plain(tool)}`;
  const isWhole = whole.length <= MOST_NAME_CHARS && plain(tool) === tool && tool !== "";
  return isWhole ? whole : withMark(whole, `${server}\0${tool}`);
}

const plain = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, "_");

/** Eight characters tell tools apart whose names begin the same. */
function withMark(name: string, key: string): string {
  const mark = createHash("sha256").update(key).digest("hex").slice(0, 8);
  return `${name.slice(0, MOST_NAME_CHARS - mark.length - 1)}_${mark}`;
}
