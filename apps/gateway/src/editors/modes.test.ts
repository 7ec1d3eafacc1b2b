import { describe, expect, it } from "vitest";
import { MODE_IDS, planModes, planRules } from "./modes.ts";

const RULES = ["off", "ask", "allow", undefined] as const;
const ALL = RULES.flatMap((write) => RULES.map((shell) => ({ write, shell })));

/** As settings have it: what is not said is not there. */
const said = ({ write, shell }: (typeof ALL)[number]) => ({
  ...(write !== undefined && { write }),
  ...(shell !== undefined && { shell }),
});

describe("the modes of a session", () => {
  it("ask where the settings say nothing, as somebody is there", () => {
    expect(planModes({}).first).toBe("ask");
    expect(planRules("ask", {})).toEqual({ write: "ask", shell: "ask" });
    expect(planRules("edit", {})).toEqual({ write: "allow", shell: "ask" });
    expect(planModes({ write: "allow" }).first).toBe("edit");
  });

  it("switch nothing on that the settings switch off, and begin with one that there is", () => {
    for (const each of ALL) {
      const settings = said(each);
      const { modes, first } = planModes(settings);
      expect(modes.map(({ id }) => id)).toContain(first);
      for (const id of MODE_IDS)
        for (const tool of ["write", "shell"] as const)
          if (settings[tool] === "off") expect(planRules(id, settings)[tool]).toBe("off");
      expect(planRules("read", settings)).toEqual({ write: "off", shell: "off" });
      for (const rule of Object.values(planRules("ask", settings))) expect(rule).not.toBe("allow");
    }
  });
});
