// A process that stores messages in a session in PostgreSQL and numbers them.
import { openPostgresStore } from "@clew/store-postgres";
import { POSTGRES_PORTS } from "../storage/postgres/ports.ts";

const [url = "", key = "", mode = "entries"] = process.argv.slice(2);
// It will not be missed for long.
const address = "http://127.0.0.1:1";
const store = await openPostgresStore({ url, address, ports: POSTGRES_PORTS, ttlMs: 2000 });
const transcript = await store.open({ agentId: "main", key });
await transcript.deliveries.save("a", { kind: "seen", root: "root", ids: [] });
for (let number = 1; ; number++) {
  const id = `m${number}`;
  const message = { role: "user", content: id, __openclaw: { id } } as const;
  if (mode === "steps")
    await transcript.appendStep({
      entries: [{ type: "message", message }],
      deliveries: [{ engineId: "a", change: { kind: "acknowledged", ids: [id] } }],
      report: null,
    });
  else await transcript.append([{ type: "message", message }]);
  await new Promise((done) => process.stdout.write(`${number}\n`, done));
}
