// Keeps a plugin in a process of its own from ending the gateway by a signal.
import { syncBuiltinESMExports } from "node:module";
import { guardedPids } from "../contain/guarded-pids.ts";
import { planAct } from "../contain/plan-act.ts";

type Members = Record<string, ((...given: unknown[]) => unknown) | undefined>;

/**
 * For the life of the process, before the plugin is loaded. Threads and programs that it starts
 * have a `process` of their own. `refused`: told what it asked for, and why that was refused.
 */
export function guardGateway(pid: number, refused: (asked: string, why: string) => Error): void {
  const pids = guardedPids(pid);
  const members = process as unknown as Members;
  for (const name of ["kill", "_kill"] as const) {
    const real = members[name];
    if (real === undefined) continue;
    members[name] = function kill(...given) {
      const plan = planAct(name, given, pids);
      if (plan.kind === "refused") throw refused(plan.asked, plan.why);
      return Reflect.apply(real, process, given);
    };
  }
  syncBuiltinESMExports();
}
