// A process that forgets what a journal names, and is killed after so many steps.
import { readFileSync } from "node:fs";
import { runForgetting } from "../forget/run.ts";
import { claimHome } from "../home/claim.ts";

const [home = "", journal = "", step = "0"] = process.argv.slice(2);
await claimHome(home);
let done = 0;
await runForgetting(home, JSON.parse(readFileSync(journal, "utf8")), {
  onStep() {
    if (done++ === Number(step)) process.kill(process.pid, "SIGKILL");
  },
});
