// Writes the files by which a system starts the gateway of a home.

/** What the system starts, and in which home. */
export interface ServicePlan {
  /** Absolute paths: Node and Clew's own file. */
  node: string;
  main: string;
  home: string;
  /** `CLEW_CONFIG`, where it is set. */
  configFile?: string;
  /** Where programs are found that plugins and commands use. */
  path: string;
  /** Lines of `NAME=value`, for keys; it need not be there. */
  variablesFile: string;
}

/** Restarts what failed; an end that was asked for is one. */
const STOP_SECONDS = 30;

/** Pure. A unit of systemd for one account. */
export function systemdUnit(plan: ServicePlan): string {
  const { node, main, variablesFile, home } = plan;
  const words = [node, `--env-file-if-exists=${variablesFile}`, main, "start"];
  return `[Unit]
Description=Clew gateway of ${systemdText(home)}
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=simple
ExecStart=${words.map(systemdWord).join(" ")}
${variablesOf(plan)
  .map(([name, value]) => `Environment=${systemdQuoted(`${name}=${value}`)}`)
  .join("\n")}
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=${STOP_SECONDS}
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** Pure. A property list of launchd for one account. */
export function launchdPlist(plan: ServicePlan, label: string): string {
  const { node, main, variablesFile, home } = plan;
  const words = [node, `--env-file-if-exists=${variablesFile}`, main, "start"];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xmlText(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xmlText(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variablesOf(plan)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${xmlText(value)}</string>`)
  .join("\n")}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_SECONDS}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>${xmlText(`${home}/logs/service.err`)}</string>
</dict>
</plist>
`;
}

/** `HOME` is the system's to say. */
const variablesOf = ({ home, configFile, path }: ServicePlan): [string, string][] => [
  ["CLEW_HOME", home],
  ...(configFile === undefined ? [] : [["CLEW_CONFIG", configFile] as [string, string]]),
  ["PATH", path],
];

/** Line ends would begin another setting. */
const systemdText = (text: string) => text.replaceAll("%", "%%").replaceAll(/[\r\n]/g, " ");

const systemdQuoted = (text: string) =>
  `"${systemdText(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** A dollar would be a variable. */
const systemdWord = (text: string) => systemdQuoted(text).replaceAll("$", "$$$$");

const xmlText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
