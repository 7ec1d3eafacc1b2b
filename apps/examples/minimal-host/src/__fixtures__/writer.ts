// Appends messages to a session until it is killed, and prints a line for each that is stored.
import { openSession } from "../session-file.ts";

const transcript = openSession(process.argv[2]!, "agent:main:demo");
for (let count = 1; ; count++) {
  const message = { role: "user", content: `m${count}` } as const;
  await transcript.append([{ type: "message", message }]);
  await new Promise((done) => process.stdout.write(`${count}\n`, done));
}
