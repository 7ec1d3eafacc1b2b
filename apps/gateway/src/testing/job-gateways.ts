// Gateways of one database in processes of their own, and jobs that come due for them.
import { openPostgresReader } from "@clew/store-postgres";
import { onTestFinished } from "vitest";
import { runSql } from "../../../../packages/store-postgres/src/testing/server.ts";
import { testDatabase } from "../../../../packages/store-postgres/src/testing/shared.ts";
import type { Job } from "../cron/job.ts";
import { createJobRows } from "../storage/postgres/job-rows.ts";
import { POSTGRES_PORTS } from "../storage/postgres/ports.ts";
import { heldModel } from "./held-model.ts";
import { type GatewayPlan, type Place, startAgain } from "./killed-gateways.ts";
import { startedPlace } from "./started-place.ts";

const HOUR = 3_600_000;

export async function jobGateways({ url, ...given }: Partial<GatewayPlan> & { url?: string } = {}) {
  const model = await heldModel();
  const databaseUrl = url ?? (await testDatabase());
  const start = async () => {
    const plan = { databaseUrl, deadAfterSeconds: 2, config: model.config, ...given };
    return startedPlace(plan);
  };
  const again = async (place: Place) => {
    const plan = { databaseUrl, deadAfterSeconds: 2, config: model.config, ...given };
    place.child = await startAgain(plan, place);
  };
  const reader = await openPostgresReader({ url: databaseUrl, ports: POSTGRES_PORTS });
  onTestFinished(() => reader.close());
  const store = createJobRows(reader);
  await store.jobs();
  const { now } = store.shared.clock;
  /** Due for the first time in so many ms, and an hour later again. */
  const add = (id: string, inMs: number, more: Partial<Job> = {}) => {
    const createdAt = now() + inMs - HOUR;
    return store.write({
      ...{ v: 1, id, session: `agent:main:${id}`, message: `look ${id}`, kind: "cron" },
      ...{ schedule: "every 1h", timeZone: "UTC", enabled: true, maxLateMinutes: 1440 },
      ...{ createdAt, enabledAt: createdAt, askedAt: 0, ...more },
    });
  };
  const ownerOf = (id: string) => reader.ownerOf({ agentId: "main", key: `agent:main:${id}` });
  const said = async (id: string) => {
    const rows = await runSql(
      databaseUrl,
      `select e.body from entry e join session s on s.id = e.session_id
       where s.key = 'agent:main:${id}' order by e.seq`,
    );
    const entries = rows.map(({ body }) => JSON.parse(body as string));
    return entries.flatMap(({ message }) => (message === undefined ? [] : [message]));
  };
  const rolesIn = async (id: string) => (await said(id)).map(({ role }) => role);
  return { model, start, again, store, add, answer: model.answer, said, rolesIn, ownerOf, now };
}
