// A process that appends to a session and never comes to write its checkpoint.
import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { checkpointFile } from "../sessions/checkpoint.ts";
import { createSessionStore } from "../sessions/store.ts";

const [home = "", content = ""] = process.argv.slice(2);
const session = await createSessionStore({ home, checkpointFrom: 0 }).open({
  key: "main",
  cwd: home,
});
const checkpoint = checkpointFile(session.session.sessionFile);
renameSync(checkpoint, `${checkpoint}.kept`);
// Whoever opens a pipe that nobody reads waits for good.
execFileSync("mkfifo", [checkpoint]);
console.log("ready");
await session.append([{ type: "message", message: { role: "user", content } }]);
