import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkHost } from "./check-host.ts";

it("the doctor tells how far estimates were off, once something was counted", async () => {
  const home = await temporaryHome();
  const told = async () =>
    (await checkHost(readEnvironment({ CLEW_HOME: home }))).find(
      ({ subject }) => subject === "token estimates",
    );
  expect(await told()).toBeUndefined();
  await mkdir(join(home, "agents/main"), { recursive: true });
  const models = { "offline/offline": { ratio: 1.234, samples: 7 } };
  await writeFile(join(home, "agents/main/token-ratios.json"), JSON.stringify({ v: 1, models }));
  expect(await told()).toMatchObject({
    level: "ok",
    text: "offline/offline counts 1.23 times the estimate (7 calls); estimates are corrected",
  });
});
