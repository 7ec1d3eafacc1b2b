// An engine for tests that writes down, durably, what it is told of child sessions.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { writePlugin } from "./plugins.ts";

/** One call of the engine. */
export interface Note {
  pid: number;
  prepared?: string;
  rolledBack?: string;
  ended?: string;
  reason?: string;
  /** Of a preparation. */
  params?: Record<string, unknown>;
}

const code = (id: string, info: string) => `
import { appendFileSync } from "node:fs";
const file = new URL("./notes.jsonl", import.meta.url);
const note = (line) => appendFileSync(file, JSON.stringify({ pid: process.pid, ...line }) + "\\n");
export default { register(api) { api.registerContextEngine("${id}", () => ({
  info: { id: "${id}", name: "Notary", ...(${info}) },
  ingest: async () => ({ ingested: true }),
  assemble: async ({ messages }) => ({ messages, estimatedTokens: 0 }),
  compact: async () => ({ ok: true, compacted: false, reason: "nothing to do" }),
  prepareSubagentSpawn: async (params) => {
    note({ prepared: params.childSessionKey, params });
    await globalThis.whilePreparing?.();
    return { rollback: async () => note({ rolledBack: params.childSessionKey }) };
  },
  onSubagentEnded: async ({ childSessionKey, reason }) => note({ ended: childSessionKey, reason }),
})); } };
`;

/** What the engine does while it prepares, until the test is over. */
export function whilePreparing(work: () => unknown): void {
  Object.assign(globalThis, { whilePreparing: work });
  onTestFinished(() => void Object.assign(globalThis, { whilePreparing: undefined }));
}

/** `info`: the code of further fields of its info. */
export function writeNotary(home: string, { id = "notary", info = "{}" } = {}) {
  // A home loads what is in its plugins folder.
  const folder = writePlugin(join(home, "plugins", id), { id, code: code(id, info) });
  const file = join(folder, "notes.jsonl");
  const notes = (): Note[] =>
    (existsSync(file) ? readFileSync(file, "utf8") : "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Note);
  return { folder, notes, plugins: { slots: { contextEngine: id } } };
}
