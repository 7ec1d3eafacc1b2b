import { setTimeout as after } from "node:timers/promises";
import type { DeliveryLedger } from "@clew/engine-core";
import { type OpenedTranscript, testTranscriptStore } from "@clew/engine-core/testing";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { openPostgresStore, type PostgresStore } from "@clew/store-postgres";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { startChild } from "../../testing/child.ts";
import { POSTGRES_PORTS } from "./ports.ts";

const WRITER = new URL("../../testing/postgres-writer.ts", import.meta.url);

describe.skipIf(whyNoPostgres() !== null)(`the store in PostgreSQL ${UNLESS_THERE}`, () => {
  let url: string;
  let store: PostgresStore<DeliveryLedger>;
  let sessions = 0;
  beforeAll(async () => {
    url = await testDatabase();
    store = await openPostgresStore({ url, address: "http://127.0.0.1:1", ports: POSTGRES_PORTS });
  });
  afterAll(() => store?.close());

  testTranscriptStore({
    test: it,
    create() {
      const key = `agent:main:rule-${sessions++}`;
      const kill = async (mode: string) => {
        const child = startChild(WRITER, [url, key, mode]);
        for (let line = 0; line < 10; line++) await child.nextLine();
        child.process.kill("SIGKILL");
        await child.exit;
        return child.lines.length;
      };
      return {
        open: () => openWhenFree(key),
        killWriter: () => kill("entries"),
        killStepWriter: () => kill("steps"),
        async beginSuccessor() {
          const sessionId = `successor of ${key}`;
          return {
            sessionId,
            adopt: ({ from, prepare }) =>
              store.adopt({ from, sessionId, archivedKey: `${key} before`, prepare }),
          };
        },
      };
    },
  });

  /** A gateway that was killed is dead after two seconds; one that lives is not waited for. */
  async function openWhenFree(key: string): Promise<OpenedTranscript> {
    for (;;) {
      const opened = await store.open({ agentId: "main", key }).catch((error: unknown) => error);
      if (!(opened instanceof Error)) return opened as OpenedTranscript;
      const isElsewhere =
        ContextEngineError.is(opened, "SESSION_LOCKED") &&
        /by (the gateway at|a gateway that has just died)/.test(opened.message);
      if (!isElsewhere) throw opened;
      await after(50);
    }
  }
});
