import { testTranscriptStore } from "@clew/engine-core/testing";
import { describe, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { createSessionStore } from "./store.ts";

const WRITER = new URL("../testing/session-writer.ts", import.meta.url);

describe("the store that keeps sessions in files", () => {
  testTranscriptStore({
    test: it,
    async create() {
      const home = await temporaryHome();
      return {
        open: () => createSessionStore({ home }).open({ key: "main", cwd: home }),
        async killWriter() {
          const child = startChild(WRITER, [home, "append"]);
          for (let line = 0; line < 10; line++) await child.nextLine();
          child.process.kill("SIGKILL");
          await child.exit;
          return child.lines.filter((line) => /^\d+$/.test(line)).length;
        },
      };
    },
  });
});
