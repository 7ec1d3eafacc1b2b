// Stores steps in a database until it is killed, and prints a line for each.
import { openDatabase } from "./database.ts";

const [file = "", mode] = process.argv.slice(2);
const transcript = openDatabase(file);
await transcript.deliveries?.save("a", { kind: "seen", root: "root", ids: [] });
for (let count = 1; ; count++) {
  const id = `m${count}`;
  const message = { role: "user", content: id, __openclaw: { id } } as const;
  if (mode === "steps")
    await transcript.appendStep?.({
      entries: [{ type: "message", message }],
      deliveries: [{ engineId: "a", change: { kind: "acknowledged", ids: [id] } }],
      report: null,
    });
  else await transcript.append([{ type: "message", message }]);
  await new Promise((done) => process.stdout.write(`${count}\n`, done));
}
