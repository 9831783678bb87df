#pragma once

namespace breakeven {

// Texts of reports/render/web, embedded when the library is built (web/embed.cmake).
extern const char* const kReportTemplate;
extern const char* const kReportStyle;

}  // namespace breakeven
