// An engine over a file that is half there when it is killed while it writes.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { AgentMessage } from "../../contract/message.ts";
import type { EngineMaker } from "../case-context.ts";
import { nameOf } from "../full-engine.ts";
import { createMemoryEngine } from "../memory-engine.ts";

/** How an engine keeps one text. */
export interface Diary {
  read(file: string): AgentMessage[];
  write(file: string, all: readonly AgentMessage[], fresh: AgentMessage): void;
}

/** The memory engine with a diary of one session. */
export const withDiary =
  ({ read, write }: Diary): EngineMaker =>
  ({ agentDir }) => {
    const file = `${agentDir}/diary`;
    const known = existsSync(file) ? read(file) : [];
    const engine = createMemoryEngine();
    const names = new Set(known.map(nameOf));
    return {
      ...engine,
      ingest({ message }) {
        if (names.has(nameOf(message))) return { ingested: false };
        names.add(nameOf(message));
        known.push(structuredClone(message));
        write(file, known, message);
        return { ingested: true };
      },
      assemble: ({ messages, ...params }) =>
        engine.assemble({ ...params, messages: messages.length > 0 ? messages : [...known] }),
    };
  };

/** Written over in place; what cannot be read is taken for empty. */
export const writtenOver = withDiary({
  read(file) {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch {
      return [];
    }
  },
  write: (file, all) => writeFileSync(file, JSON.stringify(all)),
});
