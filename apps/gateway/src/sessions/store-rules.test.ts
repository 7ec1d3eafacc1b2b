import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { testTranscriptStore } from "@clew/engine-core/testing";
import { describe, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { transcriptFile } from "./paths.ts";
import { createSessionStore } from "./store.ts";

const WRITER = new URL("../testing/session-writer.ts", import.meta.url);

describe.each([
  ["", undefined],
  [", each with a checkpoint", 0],
])("the store that keeps sessions in files%s", (_how, checkpointFrom) => {
  testTranscriptStore({
    test: it,
    async create() {
      const home = await temporaryHome();
      const settings = checkpointFrom === undefined ? {} : { checkpointFrom };
      const store = createSessionStore({ home, ...settings });
      return {
        open: () => store.open({ key: "main", cwd: home }),
        async beginSuccessor() {
          const sessionId = "begun-by-an-engine";
          const sessionFile = transcriptFile(home, "main", sessionId);
          const timestamp = new Date().toISOString();
          const header = { type: "session", version: 3, id: sessionId, timestamp, cwd: home };
          await mkdir(dirname(sessionFile), { recursive: true });
          await writeFile(sessionFile, `${JSON.stringify(header)}\n`);
          return {
            sessionId,
            sessionFile,
            adopt: (move) => store.adopt({ ...move, cwd: home }),
          };
        },
        async killWriter() {
          const child = startChild(WRITER, [home, "append", "200", String(checkpointFrom ?? "")]);
          for (let line = 0; line < 10; line++) await child.nextLine();
          child.process.kill("SIGKILL");
          await child.exit;
          return child.lines.filter((line) => /^\d+$/.test(line)).length;
        },
      };
    },
  });
});
