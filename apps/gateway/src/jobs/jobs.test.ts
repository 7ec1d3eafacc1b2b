import { openPostgresStore } from "@clew/store-postgres";
import { afterAll, describe, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../packages/store-postgres/src/testing/shared.ts";
import { POSTGRES_PORTS } from "../storage/postgres/ports.ts";
import { itHandsOutWork } from "../testing/job-rules.ts";
import type { Jobs } from "./jobs.ts";
import { createLocalJobs } from "./local-jobs.ts";

describe("work within a process", () => {
  itHandsOutWork(async () => ({
    open: async () => createLocalJobs({ log: { error: () => {} }, againMs: 10 }),
    slowMs: 5_000,
  }));
});

describe.skipIf(whyNoPostgres() !== null)(`work of a database ${UNLESS_THERE}`, () => {
  const left: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(left.map((each) => each())));
  itHandsOutWork(async () => {
    const url = await testDatabase();
    const open = async (): Promise<Jobs> => {
      const store = await openPostgresStore({ url, address: "http://one", ports: POSTGRES_PORTS });
      onTestFinished(() => store.close());
      return store.openQueue({ onTrouble() {}, pollSeconds: 0.5, superviseSeconds: 1 });
    };
    return { open, slowMs: 20_000 };
  });
});
