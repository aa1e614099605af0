/** What a program is told beside results and errors. */

/** What happened, for the log of the program. */
export type Log = (level: "info" | "warn" | "error", message: string, facts?: object) => void;

/** Where nobody says otherwise. @internal */
export const toStandardError: Log = (level, message, facts) => {
  const error = (facts as { error?: unknown } | undefined)?.error;
  const shown = { ...facts, ...(error instanceof Error ? { error: error.stack ?? error.message } : {}) };
  const more = facts === undefined ? "" : ` ${JSON.stringify(shown)}`;
  process.stderr.write(`${new Date().toISOString()} ${level.toUpperCase()} toolplane: ${message}${more}\n`);
};
