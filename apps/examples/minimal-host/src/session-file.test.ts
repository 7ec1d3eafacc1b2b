import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testTranscriptStore } from "@clew/engine-core/testing";
import { describe, it } from "vitest";
import { openSession } from "./session-file.ts";

const WRITER = fileURLToPath(new URL("__fixtures__/writer.ts", import.meta.url));

describe("a session in a file", () => {
  testTranscriptStore({
    test: it,
    create() {
      const file = join(mkdtempSync(join(tmpdir(), "minimal-host-")), "demo.jsonl");
      return {
        open: async () => openSession(file, "agent:main:demo"),
        async killWriter() {
          const child = spawn(process.execPath, ["--conditions=@clew/source", WRITER, file]);
          const ended = once(child, "exit");
          let stored = 0;
          for await (const line of createInterface({ input: child.stdout })) {
            stored = Number(line);
            if (stored === 10) child.kill("SIGKILL");
          }
          await ended;
          return stored;
        },
      };
    },
  });
});
