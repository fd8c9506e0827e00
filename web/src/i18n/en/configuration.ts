/** English texts for the configuration page. */
export const configuration = {
  "settings.configuration": "Configuration",
  "configuration.intro":
    "Settings this server was started with. To change one, edit {file} or set its environment variable, then restart the server.",
  "configuration.introNoFile":
    "Settings this server was started with. To change one, create the file {file} or set its environment variable, then restart the server.",
  "configuration.search": "Search",
  "configuration.onlySet": "Only changed settings",
  "configuration.none": "No matching settings",
  "configuration.server": "Server",
  "configuration.secret": "(secret)",
  "configuration.default": "default {value}",
  "configuration.from.default": "Default",
  "configuration.from.file": "From the file",
  "configuration.from.environment": "From the environment",
  "configuration.from.flag": "From a command-line flag",
};
