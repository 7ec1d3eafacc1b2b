// A process that starts a program as a turn does, to be killed.
import { startProcess } from "../../harness/cli/process.ts";

const [cwd = "", line = ""] = process.argv.slice(2);
const { ended } = startProcess({
  ...{ command: "/bin/sh", args: ["-c", line], cwd, env: { PATH: process.env.PATH ?? "" } },
  ...{ stdin: "hello", keepsStdin: false, onLine: () => {}, onTooLong: () => {} },
  onBytes: () => {},
});
await ended;
