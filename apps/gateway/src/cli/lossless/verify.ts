// Runs `clew lossless verify`, which audits what the lossless engine keeps.
import type { HostTranscript, Verification } from "@clew/lossless-engine/store";
import { agentFolder } from "../../sessions/paths.ts";
import { createSessionStore } from "../../sessions/store.ts";
import type { Shell } from "../../terminal/shell.ts";
import { type DatabasesOptions, onDatabases } from "./on-databases.ts";

/** Exit code 1 when something is not as it was stored, or cannot be read. */
export async function losslessVerify(options: DatabasesOptions, shell: Shell): Promise<number> {
  const { home } = shell.environment;
  const sessions = await createSessionStore({ home }).list();
  const { openMessageStore } = await import("@clew/lossless-engine/store");
  return onDatabases(options, shell, {
    async work({ file, agents }, { signal, onProgress }) {
      const transcripts = sessions
        .filter(({ agentId }) => agents.includes(agentId))
        .map(
          ({ key, sessionId, agentId, file: path }): HostTranscript => ({
            ...{ sessionId, sessionKey: key, file: path },
            agentDir: agentFolder(home, agentId),
          }),
        );
      const store = openMessageStore(file);
      try {
        const verification = await store.verify({
          ...{ transcripts, signal },
          onProgress: ({ part, read, messages }) =>
            onProgress({ part: `${file}: ${part}`, done: read, of: messages }),
        });
        return { ...verification, text: describe(file, verification) };
      } finally {
        store.close();
      }
    },
    good: ({ isWhole }) => isWhole,
  });
}

function describe(file: string, verification: Verification): string {
  const { messages, payloads, faults, forgotten, expired } = verification;
  const absent = [
    ...(forgotten === 0 ? [] : [`${forgotten} forgotten`]),
    ...(expired === 0 ? [] : [`${expired} no longer kept`]),
  ];
  const gone = absent.length === 0 ? "" : ` (${absent.join(", ")})`;
  const read = `${counted(messages, "message")}${gone} and ${counted(payloads, "long text")} looked at`;
  return faults.length === 0
    ? `${file}: ${read}, all are as they were stored`
    : [
        `${file}: ${read}, ${counted(faults.length, "fault")}:`,
        ...faults.map(({ text }) => `  ${text}`),
        WHAT_TO_DO,
      ].join("\n");
}

const WHAT_TO_DO =
  "Keep a copy of the file and its backups before anything else. clew lossless doctor says what can be mended; an older backup is put back by clew lossless restore, and a database that is moved away is filled anew from the session files.";

const counted = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? "" : "s"}`;
