import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkCostCaps } from "./check-cost-caps.ts";

it("the doctor names every model that no cost cap can count, once there is a cap", async () => {
  const home = await temporaryHome();
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home });
  const lab = {
    baseUrl: "http://127.0.0.1:9",
    models: [{ id: "priced", cost: { input: 1, output: 2 } }, { id: "blind" }],
  };
  const check = (caps: object, primary: string, fallbacks: string[] = []) =>
    checkCostCaps(environment, {
      config: ConfigSchema.parse({
        agents: { defaults: { model: { primary, fallbacks } } },
        models: { providers: { lab } },
        gateway: { costCaps: caps },
      }),
    });
  expect(check({}, "lab/blind")).toEqual([]);
  const caps = { sessionDollars: 5, dayDollars: 20 };
  expect(check(caps, "lab/priced", ["offline/offline"])).toMatchObject([{ level: "ok" }]);
  expect(check(caps, "lab/priced", ["lab/blind"])).toEqual([
    {
      ...{ level: "warning", code: "cost-cap-blind", subject: "costs" },
      text: "gateway.costCaps.sessionDollars, gateway.costCaps.dayDollars: calls of lab/blind are not counted, as its prices are not known; name them in models.providers.lab.models[].cost",
    },
  ]);
});
