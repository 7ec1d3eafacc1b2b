// Reads AWS's files of profiles.

/** The settings of each section, by the name in its brackets. */
export type Sections = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Lines that belong to a nested setting, and whatever is no setting, are passed over. */
export function parseSections(text: string): Sections {
  const sections = new Map<string, Record<string, string>>();
  let open: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (header !== undefined) {
      const name = header.trim().replace(/\s+/g, " ");
      open = sections.get(name) ?? {};
      sections.set(name, open);
      continue;
    }
    const equals = line.indexOf("=");
    if (open === undefined || equals < 1 || /^[\s#;]/.test(line)) continue;
    const value = line.slice(equals + 1).replace(/\s[#;].*$/, "");
    open[line.slice(0, equals).trim().toLowerCase()] = value.trim();
  }
  return sections;
}

/** A profile as both files tell it: keys of the credentials file come first. */
export function profileIn(
  { config, credentials }: { config: Sections; credentials: Sections },
  name: string,
): Readonly<Record<string, string>> | undefined {
  const configured =
    config.get(`profile ${name}`) ?? (name === "default" ? config.get("default") : undefined);
  const kept = credentials.get(name);
  return configured === undefined && kept === undefined ? undefined : { ...configured, ...kept };
}
