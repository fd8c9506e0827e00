/** Simplified Chinese texts for the configuration page. */
export const configuration = {
  "settings.configuration": "配置",
  "configuration.intro":
    "此服务器启动时的设置。如需更改，请编辑 {file} 或设置对应的环境变量，然后重启服务器。",
  "configuration.introNoFile":
    "此服务器启动时的设置。如需更改，请创建文件 {file} 或设置对应的环境变量，然后重启服务器。",
  "configuration.search": "搜索",
  "configuration.onlySet": "仅显示更改过的设置",
  "configuration.none": "没有匹配的设置",
  "configuration.server": "服务器",
  "configuration.secret": "（保密）",
  "configuration.default": "默认 {value}",
  "configuration.from.default": "默认",
  "configuration.from.file": "来自文件",
  "configuration.from.environment": "来自环境变量",
  "configuration.from.flag": "来自命令行参数",
};
