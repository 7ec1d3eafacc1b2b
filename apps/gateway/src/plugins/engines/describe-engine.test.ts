import { expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";

it("says of which agent the turns are that it counts", async () => {
  const home = await temporaryHome();
  const status = async () => (await clew(home, ["engine", "status"])).output;
  expect(await status()).toContain('No turn of agent "main" was run yet');
  await clew(home, ["chat", "hello"]);
  expect(await status()).toContain('Last 1 turn of agent "main", in its newest sessions: 0 ');
});
