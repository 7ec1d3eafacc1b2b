// Has Node leave a mark when it crashes, by which a crash is told from a kill.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const NAME = "crash-report.json";

/** From now on a memory that is full leaves a report in `home`, without any variable's value. */
export function reportCrashes(home: string): void {
  const report = process.report;
  // Older versions of Node would write down the environment, which holds keys.
  if (!("excludeEnv" in report) || report.reportOnFatalError) return;
  const settings = { directory: home, filename: NAME, excludeEnv: true, excludeNetwork: true };
  Object.assign(report, { ...settings, compact: true, reportOnFatalError: true });
}

/** True: the process before crashed. Its report is removed. */
export function takeCrashReport(home: string): boolean {
  const file = join(home, NAME);
  const isThere = existsSync(file);
  rmSync(file, { force: true });
  return isThere;
}
