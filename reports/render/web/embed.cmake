# Writes OUTPUT, a C++ file that holds the page's template and style sheet as text.
file(READ ${FOLDER}/report.mustache template)
file(READ ${FOLDER}/report.css style)
file(WRITE ${OUTPUT} "#include \"reports/render/assets.h\"

namespace breakeven {

const char* const kReportTemplate = R\"BEVN(${template})BEVN\";
const char* const kReportStyle = R\"BEVN(${style})BEVN\";

}  // namespace breakeven
")
