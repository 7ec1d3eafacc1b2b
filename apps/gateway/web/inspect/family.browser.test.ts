import { describe, expect, it } from "vitest";
import { formatCount } from "../../src/conversation/format.ts";
import type { Usage } from "../../src/costs/usage.ts";
import { obedientModel, run } from "../../src/testing/obedient-model.ts";
import { barriers, hasBrowser, startPageGateway, usePages } from "../testing/browser.ts";

describe.skipIf(!hasBrowser)("sessions that a session started, in a browser", () => {
  const { openPage } = usePages();

  it("are told with their task and what they came to, and lead to their calls", async () => {
    const { config } = await obedientModel();
    const { url, gateway } = await startPageGateway({ config });
    const task = "Count the gulls on the breakwater.";
    const content = run("sessions_spawn", { task, label: "helper", wait: true });
    await gateway.send({ key: "main", content });
    const { page, errors } = await openPage(`${url}/#main/calls?show=sessions`);
    const row = page.getByRole("row", { name: /^helper/ });
    await row.getByText(task).waitFor();
    await row.getByText("completed").waitFor();
    const { sessions } = (await (await fetch(`${url}/api/sessions/main/usage`)).json()) as Usage;
    const own = sessions.find(({ name }) => name.includes("subagent"))!;
    await row.getByText(formatCount(own.modelCalls), { exact: true }).waitFor();
    expect(await row.getByRole("cell").allTextContents()).toEqual([
      ...[task, "completed", formatCount(own.modelCalls)],
      formatCount(own.tokens.input + own.tokens.cacheRead + own.tokens.cacheWrite),
      ...[formatCount(own.tokens.output), expect.stringMatching(/^not known$|^\$/)],
    ]);
    expect(await barriers(page)).toEqual([]);
    await row.getByRole("button", { name: "helper" }).click();
    await page.getByRole("region", { name: "Call 1.1 as sent" }).waitFor();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/subagent.*\/calls/);
    // The same family, seen from below.
    await page
      .getByRole("row", { name: /^helper/ })
      .locator("[aria-current=page]")
      .waitFor();
    await page.getByRole("row", { name: /^main/ }).getByText("(begun by a person)").waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await page
      .getByRole("row", { name: /^helper/ })
      .getByText(task)
      .waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(errors).toEqual([]);
  });
});
