/** Japanese texts for the configuration page. */
export const configuration = {
  "settings.configuration": "構成",
  "configuration.intro":
    "このサーバーの起動時の設定です。変更するには、{file} を編集するか環境変数を設定して、サーバーを再起動してください。",
  "configuration.introNoFile":
    "このサーバーの起動時の設定です。変更するには、ファイル {file} を作成するか環境変数を設定して、サーバーを再起動してください。",
  "configuration.search": "検索",
  "configuration.onlySet": "変更された設定のみ",
  "configuration.none": "一致する設定はありません",
  "configuration.server": "サーバー",
  "configuration.secret": "（非公開）",
  "configuration.default": "既定値 {value}",
  "configuration.from.default": "既定",
  "configuration.from.file": "ファイル",
  "configuration.from.environment": "環境変数",
  "configuration.from.flag": "コマンドラインフラグ",
};
